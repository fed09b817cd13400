"""Functions of NumPy and SciPy that do not take arrays.

Each row names an alternative. The page `docs/numpy.md` is written from these rows. Code is between
backticks. In code, `x` and `y` are vectors, `a` is a matrix, `i` and `j` are integers, and `labels`
are integers known at build time.
"""

import re
from typing import NamedTuple

__all__ = ["OF_NUMBERS", "ROWS", "THROUGH", "Row", "advice"]


class Row(NamedTuple):
    """Functions of a module, why they are not available, and an alternative."""

    module: str
    names: str
    why: str
    instead: str


_NP, _LINALG, _FFT, _SP = "numpy", "numpy.linalg", "numpy.fft", "scipy.special"
_LENGTH = "the number of elements of the result would depend on values"
_COMPLEX = "arrays hold real numbers only"
_PLACE = "arrays cannot be changed in place"
_UNAVAILABLE = "neither kinetograph nor JAX has it"
_LIFT = "`kg.lift` of a function written with jax.numpy; for known numbers, SciPy before the graph"
_JAX = "JAX has it, with its derivatives"
_SOLVE = "it solves an equation for a parameter"
_NUMBERS = "SciPy needs the values of its arguments at once"
ROWS = (
    Row(
        _NP,
        "unique unique_all unique_counts unique_inverse unique_values",
        _LENGTH,
        "`kg.segment_sum(np.ones(x.shape), labels, 3)` counts known labels",
    ),
    Row(
        _NP,
        "union1d intersect1d setdiff1d setxor1d",
        _LENGTH,
        "`np.isin(x, [1.0, 2.0])` is true for elements that are in the list",
    ),
    Row(
        _NP,
        "nonzero flatnonzero argwhere extract compress trim_zeros",
        _LENGTH,
        "`kg.where(x > 0, x, 0.0)` keeps every place; `x[labels > 0]` selects by a known mask",
    ),
    Row(
        _NP,
        "bincount histogram histogram2d histogramdd histogram_bin_edges",
        _LENGTH,
        "`kg.segment_sum(np.ones(x.shape), np.digitize(x, [0.0, 1.0]), 3)` for known edges",
    ),
    Row(
        _NP,
        "copyto put put_along_axis putmask place fill_diagonal",
        _PLACE,
        "`x.at[0].set(1.0)` is a changed copy",
    ),
    Row(_NP, "insert", "", "`kg.concatenate([x[:1], y, x[1:]])`"),
    Row(_NP, "choose", "", "`np.select([i == 0, i == 1], [x, y])`"),
    Row(_NP, "piecewise", "", "`np.select([x < 0, x < 1], [-x, x**2], default=1.0)`"),
    Row(_NP, "lexsort", "", "`kg.argsort(x)` for each key, the last key first"),
    Row(_NP, "apply_along_axis apply_over_axes", "", "`kg.vmap(lambda row: kg.sort(row))(a)`"),
    Row(_NP, "array_repr array_str array2string", "values are not known yet", "`kg.print(x)`"),
    Row(
        _NP,
        "save savetxt savez savez_compressed",
        "values are not known yet",
        "`kg.calculate` computes them",
    ),
    Row(_NP, "ix_", "", "`a[i[:, None], i]`"),
    Row(_NP, "ravel_multi_index", "", "`i * 7 + j`"),
    Row(_NP, "unravel_index", "", "`(i // 7, i % 7)`"),
    Row(_NP, "einsum_path", "it computes nothing", "`kg.einsum('i,i->', x, x)`"),
    Row(
        _NP,
        "roots",
        _COMPLEX,
        "`kg.lift(lambda p: jnp.abs(jnp.roots(p, strip_zeros=False)))(x)` gives real numbers",
    ),
    Row(_NP, "angle", _COMPLEX, "`kg.where(x < 0, np.pi, 0.0)`"),
    Row(_NP, "sort_complex", _COMPLEX, "`kg.sort(x)`"),
    Row(_NP, "polydiv", "", "`kg.lift(lambda u, v: jnp.polydiv(u, v)[0])(x, y)`"),
    Row(_NP, "geomspace", "", "`kg.exp(np.linspace(kg.log(2.0), kg.log(x), 5))`"),
    Row(_NP, "can_cast min_scalar_type", "it is about types", "`x.dtype` is known"),
    Row(_NP, "may_share_memory shares_memory", "values have no memory yet", "`x is y`"),
    Row(
        _NP,
        "busday_count busday_offset datetime_as_string is_busday isnat",
        "dates are not numbers",
        "use NumPy before the dates become numbers in `kg.data`",
    ),
    Row(_NP, "packbits unpackbits", "", "`i >> 2 & 1` is a bit of an integer"),
    Row(_NP, "frexp", "", "`kg.floor(kg.log2(kg.abs(x)))` is its exponent"),
    Row(_NP, "ldexp", "", "`x * 2.0**i`"),
    Row(_NP, "nextafter spacing", "", "`kg.abs(x) * np.finfo(float).eps`, within a factor of 2"),
    Row(
        _LINALG,
        "eig eigvals",
        _COMPLEX,
        "`kg.eigh(a)` for a symmetric matrix; "
        "`kg.lift(lambda a: jnp.abs(jnp.linalg.eigvals(a)))(a)` gives real numbers",
    ),
    Row(
        _FFT,
        "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn",
        _COMPLEX,
        "`kg.lift(lambda x: jnp.abs(jnp.fft.rfft(x)))(x)` gives real numbers; "
        "`kg.convolve(x, y)` convolves",
    ),
    Row(_SP, "comb", _NUMBERS, "`kg.comb(x, 2)`"),
    Row(_SP, "log_softmax", _NUMBERS, "`kg.log_softmax(x)`"),
    Row(_SP, "logsumexp", _NUMBERS, "`kg.logsumexp(x)`"),
    Row(_SP, "multigammaln", _NUMBERS, "`kg.multigammaln(x, 2)`"),
    Row(_SP, "polygamma", _NUMBERS, "`kg.polygamma(2, x)`"),
    Row(_SP, "softmax", _NUMBERS, "`kg.softmax(x)`"),
    Row(_SP, "factorial", _NUMBERS, "`scipy.special.gamma(x + 1)`"),
    Row(_SP, "perm", _NUMBERS, "`kg.exp(kg.gammaln(x + 1) - kg.gammaln(x - 1))`"),
    Row(_SP, "rgamma", "", "`1 / scipy.special.gamma(x)`"),
    Row(_SP, "loggamma", _COMPLEX, "`kg.gammaln(x)`"),
    Row(_SP, "poch", "", "`kg.exp(kg.gammaln(x + y) - kg.gammaln(x))`"),
    Row(_SP, "powm1", "", "`kg.expm1(y * kg.log(x))`"),
    Row(_SP, "zetac", "", "`kg.zeta(x) - 1`"),
    Row(_SP, "cotdg", "", "`1 / scipy.special.tandg(x)`"),
    Row(_SP, "ndtri_exp", "", "`kg.ndtri(kg.exp(x))`"),
    Row(_SP, "diric", "", "`kg.sin(2.5 * x) / (5 * kg.sin(x / 2))`"),
    Row(_SP, "spherical_in", _NUMBERS, "`kg.sqrt(np.pi / (2 * x)) * kg.iv(2.5, x)`"),
    Row(_SP, "spherical_kn", _NUMBERS, "`kg.sqrt(np.pi / (2 * x)) * kg.kv(2.5, x)`"),
    Row(_SP, "k0 k0e k1 k1e kn", "", "`kg.kv(0.5, x)` for orders n + 1/2"),
    Row(
        _SP,
        "j0 j1 jn jv jve",
        f"{_JAX}, for integer orders",
        "`kg.lift(lambda x: jax.scipy.special.bessel_jn(x, v=1)[1])(x)`",
    ),
    Row(_SP, "bdtr bdtrc", "", "`kg.cdf(kg.binomial(10, 0.3), x)`, `kg.log_survival`"),
    Row(_SP, "chdtr chdtrc", "", "`kg.cdf(kg.chi_squared(3), x)`, `kg.log_survival`"),
    Row(_SP, "fdtr fdtrc", "", "`kg.cdf(kg.f(3, 4), x)`, `kg.log_survival`"),
    Row(_SP, "gdtr gdtrc", "", "`kg.cdf(kg.gamma(2.0, 1.0), x)`, `kg.log_survival`"),
    Row(_SP, "nbdtr nbdtrc", "", "`kg.cdf(kg.negative_binomial(3, 0.4), x)`, `kg.log_survival`"),
    Row(_SP, "pdtr pdtrc", "", "`kg.cdf(kg.poisson(3.0), x)`, `kg.log_survival`"),
    Row(_SP, "chdtri", "", "`kg.quantile(kg.chi_squared(3), p)`"),
    Row(_SP, "fdtri", "", "`kg.quantile(kg.f(3, 4), p)`"),
    Row(_SP, "gdtrix gammaincinv gammainccinv", "", "`kg.quantile(kg.gamma(2.0, 1.0), p)`"),
    Row(_SP, "betaincinv betainccinv", "", "`kg.quantile(kg.beta(2.0, 3.0), p)`"),
    Row(_SP, "stdtrit", "", "`kg.quantile(kg.student(5, 0, 1), p)`"),
    Row(
        _SP,
        """bdtri bdtrik bdtrin btdtria btdtrib chdtriv chndtridf chndtrinc chndtrix fdtridfd gdtria
        gdtrib nbdtri nbdtrik nbdtrin ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtridf
        nctdtrinc nctdtrit nrdtrimn nrdtrisd pdtri pdtrik stdtridf""",
        _SOLVE,
        "for known numbers, SciPy before the graph",
    ),
    Row(_SP, "expn", _JAX, "`kg.lift(jax.scipy.special.expn)(2, x)`"),
    Row(_SP, "dawsn", _JAX, "`kg.lift(jax.scipy.special.dawsn)(x)`"),
    Row(
        _SP,
        "erfi",
        "JAX has a similar function, with its derivatives",
        "`2 / np.sqrt(np.pi) * kg.exp(x * x) * kg.lift(jax.scipy.special.dawsn)(x)`",
    ),
    Row(_SP, "fresnel", _JAX, "`kg.lift(jax.scipy.special.fresnel)(x)`"),
    Row(_SP, "sici", _JAX, "`kg.lift(jax.scipy.special.sici)(x)`"),
    Row(_SP, "spence", _JAX, "`kg.lift(jax.scipy.special.spence)(x)`"),
    Row(_SP, "hyp1f1", _JAX, "`kg.lift(jax.scipy.special.hyp1f1)(0.5, 1.5, x)`"),
    Row(_SP, "hyp2f1", _JAX, "`kg.lift(jax.scipy.special.hyp2f1)(0.5, 1.0, 1.5, 0.1 * x)`"),
    Row(
        _SP,
        """eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre
        eval_hermite eval_hermitenorm eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt
        eval_sh_chebyu eval_sh_jacobi eval_sh_legendre assoc_laguerre legendre_p""",
        "",
        "`np.polyval(scipy.special.legendre(3).coef, x)`, or another polynomial's coefficients",
    ),
    Row(
        _SP,
        """agm airy airye assoc_legendre_p assoc_legendre_p_all bei beip ber berp besselpoly chndtr
        ellip_harm ellip_harm_2 ellip_normal ellipe ellipeinc ellipj ellipk ellipkinc
        ellipkm1 elliprc elliprd elliprf elliprg elliprj factorial2 factorialk h1vp h2vp
        hankel1 hankel1e hankel2 hankel2e hyp0f1 hyperu it2i0k0 it2j0y0 it2struve0 itairy
        iti0k0 itj0y0 itmodstruve0 itstruve0 jvp kei keip kelvin ker kerp kolmogi
        kolmogorov lambertw legendre_p_all log_wright_bessel lpmv mathieu_a mathieu_b
        mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2
        mathieu_sem modfresnelm modfresnelp modstruve ncfdtr nctdtr obl_ang1 obl_ang1_cv
        obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pbdv pbvv pbwa pro_ang1 pro_ang1_cv
        pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv shichi smirnov smirnovi sph_harm_y
        sph_harm_y_all sph_legendre_p sph_legendre_p_all spherical_jn spherical_yn stirling2
        struve tklmbda voigt_profile wofz wright_bessel wrightomega y0 y1 yn yv yve yvp""",
        _UNAVAILABLE,
        _LIFT,
    ),
)
# Functions of SciPy that take known numbers only, such as zeros and polynomials.
OF_NUMBERS = """ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros c_roots
cg_roots chebyc chebys chebyt chebyu erf_zeros euler fresnel_zeros fresnelc_zeros fresnels_zeros
gegenbauer genlaguerre geterr h_roots he_roots hermite hermitenorm j_roots jacobi jn_zeros
jnjnp_zeros jnp_zeros jnyn_zeros js_roots kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros
l_roots la_roots laguerre legendre lmbda lqmn lqn mathieu_even_coef mathieu_odd_coef obl_cv_seq
p_roots pbdn_seq pbdv_seq pbvv_seq pro_cv_seq ps_roots riccati_jn riccati_yn roots_chebyc
roots_chebys roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre roots_hermite
roots_hermitenorm roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu
roots_sh_jacobi roots_sh_legendre s_roots seterr sh_chebyt sh_chebyu sh_jacobi sh_legendre t_roots
ts_roots u_roots us_roots y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros"""
# Functions of SciPy that are not ufuncs, but call a ufunc.
THROUGH = ("ivp", "kvp", "softplus", "zeta")

_OF = {(row.module, name): row for row in ROWS for name in row.names.split()}


def advice(module: str, name: str, array: str) -> str:
    """The reason why a function is not available, and an alternative.

    The text is empty if there is no row for the function.
    """
    row = _OF.get((module, name))
    if row is None:
        return ""
    alternative = row.instead
    if array.isidentifier():
        alternative = re.sub("`.*?`", lambda code: re.sub(r"\bx\b", array, code[0]), alternative)
    reason = f": {row.why}" if row.why else ""
    return f"{reason}; instead: {alternative.replace('`', '')}"
