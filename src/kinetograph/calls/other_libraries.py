"""Function names of other libraries, with the name or advice here.

Keys are written without capitals and underscores.
"""

__all__ = ["ELSEWHERE"]

# Names in other libraries, by the name here. Each distribution adds its own to `ELSEWHERE`.
_WORDS_BY_FUNCTION = {
    "kg.advi(model) or kg.pathfinder(model)": (
        "autodiagonalnormal autonormal fit fitsurrogateposterior meanfield steinvi svgd svi "
        "traceelbo traceenumelbo variational vb"
    ),
    "kg.advi(model), or kg.advi(model, rank=) with covariances": (
        "autolowrankmultivariatenormal automultivariatenormal fullrankadvi"
    ),
    "kg.autograph.List, or a list in @kg.function": "tensorarray",
    "kg.betaln": "lbeta",
    "kg.calculate(x), or kg.compile(inputs, x)": "eval",
    "kg.calculate(x, values=results)": "generatequantities",
    "kg.calculate(x, draws=10), which gives arrays by name": "draw",
    "kg.check(condition, text)": "assert assertequal asserttrue debugging",
    "kg.cholesky": "choleskydecompose",
    "kg.cholesky_variable": "choleskyfactorcov",
    "kg.cholesky_variable(dim, correlation=True)": "choleskyfactorcorr",
    "kg.comb": "choose",
    "kg.compile of another placeholder, or kg.do of a model": "clonereplace givens graphreplace",
    "kg.compile(inputs, outputs) or @kg.function": "jit session",
    "kg.compare({'a': (model, results), ...})": "loocompare loomodelweights modelweights",
    "kg.concatenate": "abind appendarray appendcol appendrow cat concat",
    "kg.cond": "ifelse",
    "kg.condition(model, ...), or kg.do(model, ...)": "handlers substitute",
    "kg.correlation_variable": "corrmatrix",
    "kg.covariance_variable": "covmatrix",
    "kg.data": "asdata constantdata greatadata mutabledata",
    "kg.diag(s) @ x": "diagpremultiply",
    "sd[:, None] * kg.lkj_cholesky(eta, n)": "lkjcholeskycov",
    "kg.digamma": "psi",
    "kg.distribution": "customdist densitydist",
    "kg.draw_graph, or kg.print": "debugprint dprint printing",
    "kg.factor(term)": "potential target",
    "kg.formula(text, frame, family=...)": "brm brms glm glmer lm lmer stanglm stanglmer",
    "kg.gammaln": "lgamma loggamma",
    "kg.gp.matern12": "gpexponentialcov",
    "kg.gp.matern32": "gpmatern32cov",
    "kg.gp.matern52": "gpmatern52cov",
    "kg.gp.periodic": "gpperiodiccov",
    "kg.gp.Hilbert": "hsgp hilbertspacegp",
    "kg.gp.Process": "gaussianprocess latent latentgp marginal marginalgp",
    "kg.gp.rbf": "covexpquad exponentiatedquadratic expquad gpexpquadcov squaredexponential",
    "kg.gp.white": "whitenoise",
    "kg.gradients(y, xs)": "backward grad gradient gradienttape valueandgrad",
    "kg.icloglog": "invcloglog",
    "kg.ilogit": "expit invlogit sigmoid",
    "kg.ilogit(kg.normal(mean, sd)), or kg.distribution for data": "logitnormal",
    "kg.iprobit": "invprobit",
    "kg.jvp": "rop",
    "kg.kron": "kronecker",
    "kg.laplace_approximation(model)": "autolaplaceapproximation laplaceapprox",
    "kg.lift of a JAX function": (
        "asop customgradient externalpymc numpyfunction opfromgraph pyfunction wrappy"
    ),
    "kg.lift or kg.jax_model of JAX functions": "flaxmodule keras nnet randomflaxmodule",
    "kg.log1p(-x)": "log1m",
    "kg.log_cdf(distribution, value)": "logcdf",
    "kg.log_comb": "lchoose",
    "kg.log_density(distribution, value)": "logp logprob",
    "kg.log_likelihood(model, results)": "computeloglikelihood loglik",
    "kg.log_prior(model, results)": "computelogprior",
    "kg.loo(model, results)": "addcriterion addloo",
    "kg.logsumexp": "reducelogsumexp",
    "kg.max": "reducemax",
    "kg.mcmc(model)": (
        "infer inference runinferencealgorithm samplechain sampling stan windowadaptation"
    ),
    "kg.mean": "colmeans reducemean rowmeans",
    "kg.min": "reducemin",
    "kg.minibatch(model, size)": "hmcecs subsample",
    "kg.mixture": "logmix mixturegeneral mixturesamefamily normalmixture",
    "kg.mixture(kg.binomial(...), kg.discrete_uniform(0, 0), weights=...)": "zeroinflatedbinomial",
    "kg.model(...), of arrays": (
        "jointdistributioncoroutine jointdistributioncoroutineautobatched "
        "jointdistributionnamed jointdistributionsequential"
    ),
    "kg.multigammaln": "lmgamma multigamma",
    "kg.ndtr": "phi phiapprox",
    "kg.ndtri": "invphi",
    "kg.ode.solve": (
        "diffeqsolve differentialequation integrateode integrateodebdf integrateoderk45 "
        "odeadams odebdf odeint oderk45 solveivp"
    ),
    "kg.observe(data, distribution)": "likelihood",
    "kg.opt(model)": "autodelta findmap map minimize optimize optimizing",
    "kg.optimizers.gradient_descent": "sgd",
    "kg.optimizers.lbfgs": "lbfgsb",
    "kg.ordered_variable": "ordered",
    "kg.ordered_variable(n, positive=True)": "positiveordered",
    "kg.pairwise_distance": "cdist rdist",
    "kg.placeholder(shape)": "dmatrix dscalar dvector fmatrix fvector imatrix iscalar ivector",
    "kg.predict(model, results)": (
        "posteriorpredict posteriorpredictive predictive sampleposteriorpredictive"
    ),
    "kg.prod": "reduceprod",
    "kg.quantile(distribution, probability)": "icdf",
    "kg.RandomStreams(metaseed)": "generator rng seed",
    "kg.samplers.DifferentialEvolution": "demetropolis demetropolisz",
    "kg.samplers.HMC": "hamiltonianmc hamiltonianmontecarlo",
    "kg.samplers.MAMS": "adjustedmclmc",
    "kg.samplers.NUTS": "nouturnsampler",
    "kg.samplers.RandomWalk": "metropolis metropolishastings rmh rwmh",
    "kg.scan, or a for statement in @kg.function": "foldl foldr foriloop",
    "kg.segment_sum": "segment tapply",
    "kg.simplex_variable": "simplex",
    "kg.simulate(model)": "priordraws priorpredictive sampleprior samplepriorpredictive",
    "kg.softplus": "log1pe log1pexp",
    "kg.solve": "mdivideleft",
    "kg.solve_triangular": "backsolve forwardsolve mdividelefttri mdividelefttrilow",
    "kg.sum": "colsums reducesum rowsums",
    "kg.summary(results)": "ess neffratio posteriorinterval posteriorsummary printsummary rhat",
    "kg.switch(index, branches)": "switchcase",
    "kg.transpose": "aperm",
    "kg.variable()": "flat param parameter",
    "kg.variable(bijector=...), of a kg.Bijector": "bijectors bijectto constraints transforms",
    "kg.variable(lower, upper)": "improperuniform real",
    "kg.variable(shape=...)": "matrix rowvector vector",
    "kg.variable(lower=0)": "halfflat",
    "kg.vmap(f)": "mapfn vectorizedmap",
    "model.plot()": "modeltographviz",
    "model.potential()": "initializemodel potentialenergy",
    "model.set_data(...)": "setdata",
    "model.gradient(q)": "compiledlogp dlogp",
    "model.hessian(q)": "compiled2logp d2logp",
    "model.log_prob(q), of free numbers or of a dictionary": "compilelogp",
    "model.debug(point)": "pointlogps",
    "model.names, and kg.mcmc(model) keeps the targets": "basicrvs freervs unobservedrvs",
    "x ** y": "pow power",
    "x + kg.log1mexp(x - y)": "logdiffexp",
    "x @ kg.diag(s)": "diagpostmultiply",
    "x @ y": "batcheddot crossprod dotproduct matvec rowsdotproduct tcrossprod",
    "x.astype(dtype)": "cast tofloat toint",
    "x.at[i].add(value)": "incsubtensor",
    "x.at[i].set(value)": "scatternd setsubtensor tensorscatterndupdate",
    "x.reshape(shape)": "toarray1d tomatrix tovector",
    "x[indices]": "booleanmask gather gathernd",
}
# Names in other libraries, by advice, where kinetograph has no function for them.
_ADVICE = {
    "a direction is x / kg.sqrt((x**2).sum()) of x = kg.normal(0, 1, shape=n)": (
        "projectednormal unitvector"
    ),
    "write a known number as it is": "delta diracdelta",
    "a model has no blocks: kg.normal(0, 1) makes a parameter, and kg.data(values) data": (
        "generatedquantities parameters transformeddata transformedparameters"
    ),
    "distributions are functions of kg, as kg.normal": "dist dists tfd",
    "draws are results['posterior']['name'], or results['posterior'].to_dataset()": (
        "asdraws asdrawsdf draws drawspd drawsxr extract getdraws getsamples posteriorsamples "
        "stanvariable stanvariables"
    ),
    "write the reparametrisation out, as mu + tau * kg.normal(0, 1)": (
        "locscalereparam neutrareparam reparam transformreparam"
    ),
    "functions make arrays: kg.data(value), kg.normal(0, 1)": "gretaarray",
    "a distribution makes an unknown, as kg.normal(0, 1), and kg.mcmc(model) samples it": (
        "sample"
    ),
    "arviz_stats.hdi(results) takes results as they are": "hdi hpdi",
    "kg.loo(model, results) estimates the same, more reliably": "waic",
    "kg.report(kg.log_prior(model, kg.log_likelihood(model, results)), model) has it": (
        "powerscale powerscalesensitivity priorsense psense"
    ),
    "kg.kfold(model, results)": "loo_kfold lookfold",
    "model.predict(results, new, kind='mean') of a grid of new rows has effects of predictors": (
        "avgcomparisons avgpredictions avgslopes comparisons conditionaleffects interpret "
        "marginaleffects plotcomparisons plotpredictions plotslopes predictions slopes"
    ),
    "model.predict(results, new, kind='mean') of kg.formula has the mean of the response": (
        "epred fitted posteriorepred"
    ),
    "kg.predict(model, results, mu=model.parameter('mu', new)) has a parameter of the response": (
        "linpred posteriorlinpred"
    ),
    "arviz_plots.plot_ppc_dist(kg.predict(model, results)) compares data and replicates": (
        "plotppc ppcheck"
    ),
    "priors are distributions, as in kg.formula(text, frame, prior={'b': kg.normal(0, 1)})": (
        "prior"
    ),
    "kg.formula(text, frame) makes a model again, kg.extra_samples(results, model) draws more": (
        "update"
    ),
    "kg.formula(text, frame, family='student', link='log') has families and links by name": (
        "family link"
    ),
    "print(model) shows a model; JAX compiles it, without code of Stan": (
        "makestancode makestandata stancode standata"
    ),
    "print(model) of kg.formula shows all priors, and prior={...} replaces them": (
        "defaultprior getprior priorsummary setprior"
    ),
    "kg.summary(results, 'b_x', 'r_g') shows coefficients b_ and effects of groups r_": (
        "coef fixef ranef varcorr"
    ),
    "the probability is (results['posterior']['b_x'] > 0).mean()": "hypothesis",
    "kg.loo(model, results) makes the refits": "reloo loo_moment_match loomomentmatch",
    "arviz_plots.plot_...(results) takes results as they are": (
        "plot plotdist plotenergy plotforest plotloo plotpair plotposterior plotrank "
        "plottrace traceplot"
    ),
    "give bounds by censoring=(lower, upper) of a distribution": "censored",
    "give bounds by truncation=(lower, upper) of a distribution": (
        "bound lefttruncateddistribution righttruncateddistribution truncated "
        "truncatedcauchy twosidedtruncateddistribution"
    ),
    "shape= or dims= make copies; densities of vectors are sums over the last axis": (
        "expandeddistribution independent platestack toevent"
    ),
    "kg.temper(model) draws from several modes, and computes the evidence": (
        "bridgesampling bridgesampler logevidence marginallikelihood nestedsampler nestedsampling "
        "paralleltempering ptmcmc replicaexchange samplesmc smc smcsampler tempered temperedsmc"
    ),
    "kg.mcmc(model) marginalises discrete unknowns automatically": (
        "binarygibbsmetropolis binarymetropolis categoricalgibbsmetropolis configenumerate "
        "compoundstep discretehmcgibbs gibbs hmcgibbs mixedhmc"
    ),
    "xarray.open_datatree(path) reads results that results.to_netcdf(path) has written": (
        "fromnetcdf fromzarr readnetcdf"
    ),
    "xarray.open_datatree(path) reads results, and kg.load_graph(path) reads graphs": "load",
    "results.to_netcdf(path) writes results, and kg.save_graph(path, arrays) writes graphs": (
        "save savenetcdf tonetcdf tozarr"
    ),
    "functions belong to kg itself, as kg.exp, or to NumPy": "math",
    "shape= or dims= of a distribution make independent copies": "plate",
    "it is kg.gp.icar(adjacency, sd)": "besag car icar intrinsiccar",
    "it is kg.gp.icar(adjacency, scaled=True) and independent effects, see help(kg.gp.icar)": (
        "besagyorkmollie bym bym2"
    ),
    'kg.compare({"a": (model, results), ...}, method="evidence") compares evidences': (
        "bayesfactor posteriormodelprobabilities postprob"
    ),
    "several formulas are a list: kg.formula(['y ~ x', 'sigma ~ x'], frame)": "bf brmsformula lf",
    "sd[:, None] * kg.lkj_cholesky(eta, n) is the Cholesky factor of a covariance": (
        "inversewishart invwishart"
    ),
    "kg.model(name=array) records an array under a name": "deterministic",
    "it is arviz_stats.bayesian_r2(results, 'mean', 'sigma') of kg.model(sigma, mean=mean)": (
        "bayesianr2 bayesr2 loor2 r2 r2score"
    ),
    "leave rows out by an index, as in kg.observe(y[rows], kg.normal(mean[rows], 1))": (
        "mask maskeddistribution"
    ),
    "NumPy's arrays are taken everywhere; kg.data(value, name=...) names one": (
        "arange array asarray constant eye fill full linspace ones oneslike repmatrix "
        "repvector tensor zeros zeroslike"
    ),
    "it is b * kg.concatenate([[1.0], kg.cumprod(1 - b)[:-1]]) of b = kg.beta(1, a, shape=n)": (
        "stickbreaking stickbreakingweights"
    ),
    "give the starting values of chains by kg.mcmc(..., initial={...})": "initialpoint testpoint",
    "give labels of dims by dims=kg.dim(name, labels), or by kg.model(coords=)": (
        "addcoord addcoords"
    ),
    "write changing values as kg.data with model.set_data(...), or as kg.state": "shared",
    "compute the transform, as kg.exp(kg.normal(0, 1)); for data write a kg.distribution": (
        "transformeddistribution"
    ),
    "write it as kg.distribution, with its log density": (
        "betaquotient discreteweibull eulermaruyama garch11 gaussianstatespace gompertz "
        "interpolated kumaraswamy lomax moyal paretotype2 "
        "polyagamma rice sinebivariatevonmises skellam triangular"
    ),
    "x[:n], x[-n:] and x[i:j] are parts of an array": "head tail",
    "a run takes its seed, as in kg.mcmc(model, seed=1)": (
        "key manualseed prngkey randomseed setrngseed setseed"
    ),
    "chains use all cores automatically; kg.mcmc(..., threads=1) uses one": (
        "setcores sethostdevicecount setnumthreads"
    ),
    "JAX chooses the device, as with JAX_PLATFORMS=cpu": "setplatform",
    "numbers have 64 bits unless kg.mcmc(..., dtype='float32') asks for 32": (
        "enablex64 setdefaultdtype setdefaultfloatx setfloatx"
    ),
}
ELSEWHERE = {
    word: f"here it is {name}"
    for name, words in _WORDS_BY_FUNCTION.items()
    for word in words.split()
}
ELSEWHERE |= {word: advice for advice, words in _ADVICE.items() for word in words.split()}
