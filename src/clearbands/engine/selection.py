"""Order statistics inside kernels: np.partition compiles slowly and copies its input."""

from __future__ import annotations

from clearbands.engine.compiled import helper, loop

SHORT = 16  # below this an insertion sort is faster than another partition


@loop
def kth_smallest(values, size, k):
    """The k-th smallest (k from 0) of values[:size], which are reordered. No NaN."""
    low, high = 0, size - 1
    while high - low >= SHORT:
        pivot = _median_of_three(values[low], values[(low + high) // 2], values[high])
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if k <= right:
            high = right
        elif k >= left:
            low = left
        else:
            return values[k]
    for i in range(low + 1, high + 1):
        value = values[i]
        j = i - 1
        while j >= low and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value
    return values[k]


@helper
def _median_of_three(a, b, c):
    if a < b:
        return b if b < c else max(a, c)
    return a if a < c else max(b, c)
