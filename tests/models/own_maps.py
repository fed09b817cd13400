"""Custom bijectors, in a module that other processes can import."""

import numpy as np

import kinetograph as kg


class Sinh(kg.Bijector):
    """x = s sinh(u)."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def forward(self, u):
        return self.scale * kg.sinh(u)

    def inverse(self, x):
        return kg.arcsinh(x / self.scale)

    def log_det(self, u):
        return kg.log(kg.cosh(u)) + kg.log(self.scale)


class Softmax(kg.Bijector):
    """x = softmax(u, 0), with one free number less than elements."""

    def free_shape(self, shape):
        return (*shape[:-1], shape[-1] - 1)

    def _all(self, u):
        return kg.concatenate([u, np.zeros((*u.shape[:-1], 1))], -1)

    def forward(self, u):
        return kg.softmax(self._all(u))

    def inverse(self, x):
        return kg.log(x[..., :-1]) - kg.log(x[..., -1:])

    def log_det(self, u):
        return kg.log_softmax(self._all(u)).sum(-1)


class Mixing(kg.Bijector):
    """x = A u."""

    def __init__(self, matrix):
        self.matrix = matrix

    def forward(self, u):
        return self.matrix @ u

    def inverse(self, x):
        return kg.solve(self.matrix, x)

    def log_det(self, u):
        return kg.logdet(self.matrix)
