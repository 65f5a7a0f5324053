"""The picture of how to choose an estimator: questions from top to bottom, answers beside them, in the colours of the page."""

from html import escape

CHOICES = [
    ("A ranking,", "not a label?", [
        ("documents of queries", "PredtronRanker", "ranking"),
        ("the same labels for each row", "PredtronLabelRanker", "label_ranking"),
    ]),
    ("Labels in sequence:", "words, steps?", [("tokens with neighbours", "PredtronSequenceTagger", "sequences")]),
    ("Several labels", "per row?", [("label sets, by F1, Jaccard, ...", "PredtronMultilabelClassifier", "multilabel")]),
    ("One label,", "with an order?", [("ratings, stages, grades", "PredtronOrdinalClassifier", "ordinal")]),
    ("One of more", "than two classes?", [("any costs, abstention", "PredtronClassifier", "multiclass")]),
    ("One of", "two classes?", [
        ("costs, abstention, F1", "PredtronBinaryClassifier", "binary"),
        ("a measure of batches or groups", "PredtronBipartiteClassifier", "bipartite"),
    ]),
    ("Something else:", "a matching, a tree?", [("a custom problem", "Predtron", "problems")]),
]  # fmt: skip
WIDTH, LEFT, RIGHT, ROW = 460, 160, 196, 54


def text(x, y, words, kind):
    """Return a line of text centred at x."""
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def question(top, height, lines):
    """Return a question, and its answer "no" below."""
    middle = top + height / 2
    words = [text(LEFT / 2, middle - 3 + 17 * i, line, "question") for i, line in enumerate(lines)]
    return [f'<rect class="question" x="1" y="{middle - 22}" width="{LEFT - 2}" height="44" rx="22"/>', *words]


def answer(top, why, estimator, page):
    """Return an estimator in a box that leads to its page."""
    x, width = RIGHT, WIDTH - RIGHT - 1
    box = f'<rect class="answer" x="{x}" y="{top + 5}" width="{width}" height="44" rx="6"/>'
    words = [text(x + width / 2, top + 23, estimator, "answer"), text(x + width / 2, top + 41, why, "why")]
    return [f'<a href="{page}.html">', box, *words, "</a>"]


def draw_choice():
    """Return the picture as SVG, to stand within a page: it links to the guide and takes the colours of the theme."""
    parts, top = [], 4
    for *lines, answers in CHOICES:
        height = ROW * len(answers) + 14
        middle = top + height / 2
        if answers is not CHOICES[-1][-1]:
            parts.append(f'<path d="M {LEFT / 2} {middle + 22} V {top + height + 7}"/>')
            parts.append(text(LEFT / 2 + 16, middle + 37, "no", "why"))
        parts += question(top, height, lines)
        for i, each in enumerate(answers):
            row = top + 7 + ROW * i
            parts.append(f'<path d="M {LEFT} {middle} C {LEFT + 18} {middle} {RIGHT - 18} {row + 27} {RIGHT} {row + 27}"/>')
            parts += answer(row, *each)
        top += height
    described = "; ".join(f"{' '.join(lines)} {' or '.join(each[1] for each in answers)}" for *lines, answers in CHOICES)
    head = f'<svg class="choosing" role="img" aria-labelledby="choosing-title" viewBox="0 0 {WIDTH} {top + 4}">'
    return "\n".join([head, f'<title id="choosing-title">{escape(described)}</title>', *parts, "</svg>"])
