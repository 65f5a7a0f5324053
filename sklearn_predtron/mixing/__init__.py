"""Parameter mixing: parallel training on shards."""

from sklearn_predtron.mixing._parameter_mixing import ParameterMixing
from sklearn_predtron.mixing._shards import ShardError

__all__ = ["ParameterMixing", "ShardError"]

for name in __all__:
    globals()[name].__module__ = __name__
del name
