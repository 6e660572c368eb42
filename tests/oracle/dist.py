"""Writes dist.json, the tails and quantiles that src/stats/dist.rs is tested against.

Made with scipy 1.17.1 and numpy 2.4.6: python3 tests/oracle/dist.py > tests/oracle/dist.json
"""
import json
from scipy import special, stats

dfs = [1, 1.3, 2, 3.7, 5, 12.5, 40, 250, 900, 1001, 5000, 1e5, 1e6]
print(json.dumps({
    "t_sf": [[t, df, stats.t.sf(t, df)] for df in dfs for t in [-3, 0.2, 1.9, 5, 12, 30]],
    "t_upper": [[a, df, stats.t.isf(a, df)] for df in dfs for a in [0.9, 0.3, 0.1, 0.025, 5e-4, 5e-6, 1e-9]],
    "trigamma": [[x, special.polygamma(1, x)] for x in [0.05, 0.5, 1, 2.5, 7, 11.9, 12.1, 300]],
    "digamma": [[x, special.digamma(x)] for x in [0.05, 0.5, 1, 2.5, 7, 300]],
    "f_sf": [[x, a, b, stats.f.sf(x, a, b)] for x in [0.3, 2, 9] for a in [1, 5, 11] for b in [3, 20, 400]],
}, default=float))
