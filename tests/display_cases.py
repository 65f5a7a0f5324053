"""What the tests of displays ask of a picture."""


def labels_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def ticks_of(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def check_legible(display, xlabel, ylabel):
    """Axes with names, and nothing beyond the figure's edges at a notebook's size."""
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (xlabel, ylabel)
    assert display.figure_ is display.ax_.figure
    assert tuple(display.figure_.get_size_inches() * display.figure_.dpi) == (640, 480)
    display.figure_.canvas.draw()
    box, edges = display.ax_.get_tightbbox(), display.figure_.bbox
    assert edges.x0 <= box.x0 and box.x1 <= edges.x1 and edges.y0 <= box.y0 and box.y1 <= edges.y1
