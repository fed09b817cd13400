"""Methods, `super()`, properties, mangled names, objects that are called."""

from tests.autograph.harness import case


class Base:
    """Methods, properties, class and static methods."""

    factor = 2

    def __init__(self, k):
        self.k = k

    def scaled(self, x):
        if x > 0:
            return x * self.k
        return -x * self.k

    @property
    def large(self):
        return self.k > 10

    @staticmethod
    def sign(x):
        if x > 0:
            return 1
        return -1

    @classmethod
    def factored(cls, x):
        if x > 0:
            return x * cls.factor
        return x


class Derived(Base):
    """`super()`, a mangled name, an object that is called."""

    factor = 5

    def __init__(self, k):
        super().__init__(k)
        self.__hidden = k + 1

    def scaled(self, x):
        y = super().scaled(x)
        if y > 10:
            y = y - 10
        return y

    def hidden(self, x):
        if x > 0:
            return self.__hidden
        return self.__twice()

    def __twice(self):
        return 2 * self.__hidden

    def __call__(self, x):
        if x > 0:
            return x + self.k
        return x


@case((3, 4), (-3, 4))
def method(x, k):
    return Base(k).scaled(x)


@case((3, 4), (-3, 4))
def method_by_super(x, k):
    return Derived(k).scaled(x)


@case((3, 4), (-3, 40))
def mangled_names(x, k):
    return Derived(k).hidden(x)


@case((3, 4), (-3, 40))
def property_of_a_symbol(x, k):
    if Base(k).large:
        return x
    return x + 1


@case(3, -3)
def static_and_class_methods(x):
    return Base.sign(x), Base.factored(x), Derived.factored(x), Derived(1).factored(x)


@case((3, 4), (-3, 4))
def callable_object(x, k):
    f = Derived(k)
    return f(x)


@case((3, 4), (-3, 4))
def bound_method_as_a_value(x, k):
    f = Base(k).scaled
    return f(x) + f(1)


@case((3, 4), (-3, 4))
def unbound_method(x, k):
    return Base.scaled(Base(k), x)


@case(3, -3)
def class_defined_inside(x):
    class Local:
        def __init__(self, v):
            self.v = v

        def act(self):
            if self.v > 0:
                return self.v * 2
            return self.v * 3

    return Local(x).act()
