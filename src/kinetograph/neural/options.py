"""The options of `kg.neural.Simulation`: one table.

Keywords, `set_options`, `help()`, the page of the documentation and the flags of the command line
come from this table. An option that changes makes some parts of a simulation again: its `remakes`
is the first of

    data -> network -> model -> sampling, training

and all parts to the right of it are made again, too. `values` are hyper-parameters, which change
without a new program, and `nothing` is read when it is used.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .option import Option
from .option_words import advice_on

__all__ = ["GROUPS", "OPTIONS", "check_options", "option_named", "options_text"]

GROUPS = ("data", "network", "prior", "sampling", "walkers", "training", "output", "system")


def _activations() -> Sequence[str]:
    from .activations import ACTIVATIONS

    return tuple(ACTIVATIONS)


def _losses() -> Sequence[str]:
    from .losses import LOSSES

    return tuple(LOSSES)


def _samplers() -> Sequence[str]:
    return (
        *("BAOAB", "CCAdL", "GHMC", "GLA1", "GLA2", "HMC", "LM", "MALA", "MAMS", "MCLMC", "NUTS"),
        *("RandomWalk", "SGHMC", "SGLD", "SGNHT", "UBU"),
    )


def _optimisers() -> Sequence[str]:
    return (
        *("gradient_descent", "barzilai_borwein", "adam", "adamw", "nadam", "adamax", "adagrad"),
        *("adadelta", "rmsprop", "ftrl"),
    )


def _of(*names: str) -> Callable[[], Sequence[str]]:
    return lambda: names


_TABLE = (
    Option(
        "batch_data_files", (), "files", "data",
        "CSV files with inputs and labels, in place of a dataset.", "data", is_read=True,
    ),
    Option(
        "output_dimension", None, "whole number", "data",
        "The number of last columns of a file that are labels; None: the columns whose names begin "
        "with label, or else the last one.", "data", 1,
    ),
    Option(
        "input_columns", (), "texts", "data",
        "Inputs of the network: columns and expressions such as 'x1^2' or 'sin(x1)'; by default "
        "all columns.", "network",
    ),
    Option(
        "batch_size", None, "whole number", "data",
        "The number of rows of a batch; None takes all rows.", "model", 1,
    ),
    Option(
        "shuffle", "epochs", "name", "data",
        "The order of batches, that is `order` of kg.minibatch.", "model",
        names=_of("epochs", "random", "cyclic", "symmetric"),
    ),
    Option(
        "last_batch", None, "name", "data",
        "The last rows of an epoch if batch_size does not divide the number of rows, that is "
        "`last` of kg.minibatch: wrap, drop, or keep as a smaller batch.", "model",
        names=_of("wrap", "drop", "keep"),
    ),
    Option(
        "hidden_dimension", (), "whole numbers", "network",
        "The widths of the hidden layers; zeros are skipped.", "network", 0,
    ),
    Option(
        "hidden_activation", "relu", "names", "network",
        "The activation of the hidden layers: one for all, or one for each layer. gelu is its "
        "approximation by tanh, as in jax.nn.gelu.", "network",
        names=_activations, objects="a JAX function",
    ),
    Option(
        "output_activation", "linear", "name", "network",
        "The activation of the outputs.", "network",
        names=_activations, objects="a JAX function",
    ),
    Option(
        "bias", True, "flag", "network", "Whether layers have a bias.", "network",
    ),
    Option(
        "initial", "uniform", "name", "network",
        "How weights begin: U(-0.5, 0.5) with biases of 0.1, or a rule of kg.neural.mlp; with "
        "'prior' all parameters are draws of the normal prior exp(-beta V), between the walls.",
        "network", names=_of("uniform", "glorot", "he", "normal", "prior"),
        objects="a function of a JAX key and a shape",
    ),
    Option(
        "dropout", None, "number", "network",
        "The probability with which training drops a hidden unit, for each row and step. Sampling "
        "with it warns.", "network", 0, below=1,
    ),
    Option(
        "loss", "mean_squared", "name", "network",
        "The loss of a row.", "network", names=_losses, objects="a kg.neural.Loss",
        accepts=lambda value: callable(value) or hasattr(value, "function"),
    ),
    Option(
        "fix_parameters", None, "dictionary", "network",
        "Values of fixed parameters by name, NaN where a number stays free. A name is an "
        "array, such as layer0/bias, or a column of a trajectory, such as bias0.", "network",
    ),
    Option(
        "loss_scale", "mean", "number", "prior",
        "The factor s of the mean loss in the potential U = s L + V; 'sum' is the number of rows.",
        "model", above=0, names=_of("mean", "sum"),
    ),
    Option(
        "prior", None, "number", "prior",
        "The standard deviation of a normal prior of the parameters, or a log density.", "model",
        above=0, objects="a JAX function of the tree of parameters",
    ),
    Option(
        "prior_factor", 1.0, "number", "prior",
        "The factor of the prior and of the walls in the potential.", "model", above=0,
    ),
    Option(
        "prior_lower_boundary", None, "number", "prior",
        "The place of a soft wall below the parameters.", "model",
    ),
    Option(
        "prior_upper_boundary", None, "number", "prior",
        "The place of a soft wall above the parameters.", "model",
    ),
    Option(
        "prior_power", 1.0, "number", "prior",
        "The power of the walls' force.", "model", 0,
    ),
    Option(
        "sampler", "BAOAB", "name", "sampling",
        "The sampler.", "sampling", names=_samplers, objects="a sampler of kg.samplers",
        accepts=lambda value: hasattr(value, "step") and not isinstance(value, type),
    ),
    Option(
        "step_width", 0.1, "number", "sampling",
        "The step size h of the sampler.", "values", above=0,
    ),
    Option(
        "inverse_temperature", 1.0, "number", "sampling",
        "The inverse temperature beta: the density is exp(-beta U).", "values", above=0,
    ),
    Option(
        "friction_constant", 1.0, "number", "sampling",
        "The friction of Langevin dynamics; with a thermostat, the friction of the added noise.",
        "values", above=0,
    ),
    Option(
        "hamiltonian_dynamics_time", 1.0, "number", "sampling",
        "The length of a trajectory of HMC: its number of steps is this time / step_width.",
        "values", above=0,
    ),
    Option(
        "thermostat_mass", None, "number", "sampling",
        "The inertia of a thermostat; None is the number of free parameters.", "sampling", above=0,
    ),
    Option(
        "max_steps", 1000, "whole number", "sampling",
        "The number of steps of sample() and fit().", least=0,
    ),
    Option(
        "burn_in_steps", 0, "whole number", "sampling",
        "The steps before the first row that averages include.", least=0,
    ),
    Option(
        "every_nth", None, "whole number", "sampling",
        "Records and averages have the rows of every n-th step; None: of every step, or with "
        "covariance_blending of every covariance_after_steps-th step.", least=1,
    ),
    Option(
        "seed", None, "whole number", "sampling",
        "The seed of initial parameters, batches and noise; None takes the system's entropy.",
        "network", 0,
    ),
    Option(
        "number_walkers", 1, "whole number", "walkers",
        "The number of walkers: copies of the parameters.", "sampling", 1,
    ),
    Option(
        "walker_starts", "own", "name", "walkers",
        "Whether each walker has its own initial parameters, or all have the same.", "network",
        names=_of("own", "same"),
    ),
    Option(
        "walker_jitter", 0.0, "number", "walkers",
        "The standard deviation of normal noise that is added to initial parameters.", "network", 0,
    ),
    Option(
        "covariance_blending", 0.0, "number", "walkers",
        "The weight eta of the walkers' covariance as preconditioner; 0: independent walkers.",
        "sampling", 0,
    ),
    Option(
        "covariance_after_steps", 100, "whole number", "walkers",
        "The number of steps after which the covariance is computed again. With "
        "covariance_blending, max_steps and every_nth are multiples of it.", "sampling", 1,
    ),
    Option(
        "covariance_structure", "full", "name", "walkers",
        "The structure of the covariance: full, a block for each layer, its diagonal, or its "
        "largest eigenpairs.", "sampling", names=_of("full", "block", "diagonal", "low-rank"),
    ),
    Option(
        "covariance_rank", 10, "whole number", "walkers",
        "The number of eigenpairs of the structure low-rank.", "sampling", 1,
    ),
    Option(
        "collapse_walkers", False, "flag", "walkers",
        "Whether sample() first moves all walkers to the one of lowest potential. Its records are "
        "then marked as not stationary.",
    ),
    Option(
        "chain_method", None, "name", "walkers",
        "How independent walkers run, as in kg.mcmc: on threads, or as one batch. None is threads "
        "on a processor and a batch on an accelerator.", "sampling", names=_of("threads", "batch"),
    ),
    Option(
        "optimizer", "gradient_descent", "name", "training",
        "The optimiser. With adadelta, as kg.optimizers.adadelta with rho=1, each step is the "
        "learning rate times the gradient; kg.optimizers.adadelta(1.0, rho=0.95) is Zeiler's.",
        "training", names=_optimisers,
        objects="an optimiser of kg.optimizers or a transformation of optax",
        accepts=lambda value: not isinstance(value, (str, bool, int, float)),
    ),
    Option(
        "learning_rate", 0.03, "number", "training",
        "The learning rate.", "training", above=0, objects="a function of the number of the step",
    ),
    Option(
        "schedule", "constant", "name", "training",
        "The learning rate: constant, or falling within max_steps steps to a hundredth.",
        "training", names=_of("constant", "exponential", "cosine"),
    ),
    Option(
        "run_file", None, "file", "output",
        "A CSV file NAME.csv or a folder NAME.zarr for the rows of the run. The first fit() or "
        "sample() replaces a file that is there. Later ones, also after restore_model, append to a "
        "file that begins with the rows of the simulation, after they have cut later rows; a file "
        "that has other rows, other columns or, for sample(), rows of another density is an error.",
    ),
    Option(
        "trajectory_file", None, "file", "output",
        "A file, as run_file, for the parameters of each row.",
    ),
    Option(
        "averages_file", None, "file", "output", "A file, as run_file, for running averages.",
    ),
    Option(
        "directions_file", None, "file", "output",
        "A CSV file of directions; trajectories have projections on them, not parameters.",
        is_read=True,
    ),
    Option(
        "save_model", None, "file", "output",
        "A file to which the complete state is written after sample() and fit().",
    ),
    Option(
        "restore_model", None, "file", "output",
        "A file of save() from which the simulation continues; options that are set at the same "
        "time take the place of the file's options. The precision is an option of the file, too. "
        "Functions and other objects that a file cannot keep must be given again.",
    ),
    Option(
        "parse_parameters_file", None, "file", "output",
        "A trajectory file whose rows are the initial parameters.", "network", is_read=True,
    ),
    Option(
        "parse_steps", (), "whole numbers", "output",
        "The steps of the rows of parse_parameters_file that walkers take in turn; by default the "
        "last.", "network", 0,
    ),
    Option(
        "sql_db", None, "file", "output",
        "A SQLite file whose table `runs` gets the time and the settings of each run.",
    ),
    Option(
        "sql_scalars", False, "flag", "output",
        "Whether the table `scalars` of sql_db gets the last row of each block of steps.",
    ),
    Option(
        "do_accumulates", True, "flag", "output",
        "Whether accuracy, norms and averages are computed in addition to the loss.", "sampling",
    ),
    Option(
        "progress", False, "flag", "output",
        "Whether the progress of a run and the time left are shown on standard error.",
        objects="a function of the number of steps done and the number of all steps",
    ),
    Option(
        "verbose", 0, "whole number", "output",
        "What a run prints on standard error: 1 the steps of a second, 2 its options, too, 3 the "
        "loss of each block of steps, too.", least=0,
    ),
    Option(
        "always_list", False, "flag", "output",
        "Whether values of one walker have an axis of walkers, too.",
    ),
    Option(
        "precision", "float32", "name", "system",
        "The precision of numbers.", "data", names=_of("float32", "float64"),
    ),
    Option(
        "threads", None, "whole number", "system",
        "The number of walkers that run at once; None is the number of processors.", least=1,
    ),
)  # fmt: skip

OPTIONS: dict[str, Option] = {option.name: option for option in _TABLE}


def option_named(name: str) -> Option:
    """The option of a name.

    Raises
    ------
    AttributeError
        If the name is unknown; the message has the nearest name.
    """
    if name not in OPTIONS:
        raise AttributeError(f"Simulation: unknown option {name!r}{advice_on(name, OPTIONS)}")
    return OPTIONS[name]


def check_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of options in their types.

    Raises
    ------
    AttributeError
        If the name of an option is unknown.
    ValueError
        If a value has another type or is out of its range.
    """
    return {name: option_named(name).check(value) for name, value in values.items()}


def options_text(values: Mapping[str, Any] | None = None, name: str | None = None) -> str:
    """The options as a text, by groups, or one option."""
    shown = {n: o.default for n, o in OPTIONS.items()} | dict(values or {})
    if name is not None:
        option = option_named(name)
        return f"{name}: {option.expected}; {shown[name]!r}\n    {option.text}"
    lines = []
    for group in GROUPS:
        lines.append(f"{group}:")
        members = [option for option in OPTIONS.values() if option.group == group]
        lines += [f"    {o.name} ({shown[o.name]!r:.40}): {o.text}" for o in members]
    return "\n".join(lines)
