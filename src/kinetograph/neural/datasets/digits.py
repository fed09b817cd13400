"""Images of digits, from scikit-learn."""

import numpy as np

from ...graph.public import public
from .reading import LabelledData

__all__ = ["digits"]


@public
def digits(*, one_hot: bool = True) -> LabelledData:
    """Read the 1797 images of digits of scikit-learn.

    They have 8 by 8 pixels. Pixels are scaled to [-0.5, 0.5]. Labels are one-hot vectors, or the
    digits themselves if `one_hot` is false. Needs scikit-learn.

    Source: E. Alpaydin, C. Kaynak, Optical recognition of handwritten digits, UCI 1998.

    Examples
    --------
    >>> import kinetograph as kg
    >>> data = kg.neural.datasets.digits()
    >>> data.x.shape, data.y.shape, float(data.x.min()), float(data.x.max())
    ((1797, 64), (1797, 10), -0.5, 0.5)
    """
    from sklearn.datasets import load_digits

    images, numbers = load_digits(return_X_y=True)
    inputs = tuple(f"x{i + 1}" for i in range(images.shape[1]))
    x = images / 16.0 - 0.5
    if not one_hot:
        return LabelledData(x, numbers[:, None].astype(float), inputs, ("label",))
    labels = tuple(f"label{i}" for i in range(10))
    return LabelledData(x, np.eye(10)[numbers], inputs, labels)
