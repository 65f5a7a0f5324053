"""The public names of the package."""

from sklearn_predtron import datasets
from sklearn_predtron._support.lazy import give_public_paths
from sklearn_predtron.datasets._broken_lines import BrokenLineError as BrokenLineError
from sklearn_predtron.datasets._chunk_labels import chunk_labels as chunk_labels
from sklearn_predtron.datasets._conll import read_conll as read_conll
from sklearn_predtron.datasets._markov_sequences import make_sequences as make_sequences
from sklearn_predtron.datasets._parquet import ParquetReader as ParquetReader
from sklearn_predtron.datasets._parquet import ParquetSummary as ParquetSummary
from sklearn_predtron.datasets._ranking_queries import make_ranking_queries as make_ranking_queries
from sklearn_predtron.datasets._read import read_svmlight as read_svmlight
from sklearn_predtron.datasets._reader import SvmlightReader as SvmlightReader
from sklearn_predtron.datasets._sequences import stack_sequences as stack_sequences
from sklearn_predtron.datasets._sequences import unstack as unstack
from sklearn_predtron.datasets._sequences import window as window
from sklearn_predtron.datasets._summary import SvmlightSummary as SvmlightSummary
from sklearn_predtron.datasets._token_features import token_features as token_features
from sklearn_predtron.datasets.formats.base import RowChunk as RowChunk
from sklearn_predtron.datasets.formats.base import RowSchema as RowSchema
from sklearn_predtron.datasets.formats.file_formats import Conll as Conll
from sklearn_predtron.datasets.formats.file_formats import Csv as Csv
from sklearn_predtron.datasets.formats.file_formats import JsonLines as JsonLines
from sklearn_predtron.datasets.formats.file_formats import Svmlight as Svmlight
from sklearn_predtron.datasets.formats.file_formats import VowpalWabbit as VowpalWabbit
from sklearn_predtron.datasets.formats.opening import RowStream as RowStream
from sklearn_predtron.datasets.formats.opening import open_rows as open_rows

give_public_paths(datasets, globals())
