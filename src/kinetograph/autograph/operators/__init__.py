"""The operators that converted code calls, under the name `ag__`.

Each operator looks at the type of the value that decides: a `kg.Array` makes a node of the graph
(the statement is staged), any other value runs Python's own statement. Nothing is tried and undone
for this decision.
"""

from .branching import if_exp, if_stmt
from .call import chosen, converted, elements
from .for_stmt import for_stmt
from .items import (
    assign_item,
    assign_item_in,
    assign_item_of,
    get_item,
    item,
    item_of,
    set_attribute,
    slice,
    update_item,
    update_item_in,
    update_item_of,
)
from .lists import typed_list
from .logic import and_, assert_stmt, chain, in_, matches, not_, or_, truth
from .reachable import cleanup
from .shared_objects import changed_owner, refuse_second_name
from .staging import caught
from .undefined import Undefined, UndefinedReturnValue, ld, ldu, retval
from .while_stmt import while_stmt

__all__ = [
    "Undefined",
    "UndefinedReturnValue",
    "and_",
    "assert_stmt",
    "assign_item",
    "assign_item_in",
    "assign_item_of",
    "caught",
    "chain",
    "changed_owner",
    "chosen",
    "cleanup",
    "converted",
    "elements",
    "for_stmt",
    "get_item",
    "if_exp",
    "if_stmt",
    "in_",
    "item",
    "item_of",
    "ld",
    "ldu",
    "matches",
    "not_",
    "or_",
    "refuse_second_name",
    "retval",
    "set_attribute",
    "slice",
    "truth",
    "typed_list",
    "update_item",
    "update_item_in",
    "update_item_of",
    "while_stmt",
]
