"""The order in which Go's `sort.Slice` leaves equal elements.

It is not stable but deterministic, and kube-scheduler's choice among equally important victims follows from
it. Elements are given as integers (their rank), so that comparing them is cheap; the algorithm is the
pattern-defeating quicksort of Go 1.19 and later.
"""

INSERTION = 12


def go_order(ranks: list[int]) -> list[int]:
    """Positions of the ranks in the order in which `sort.Slice` would leave them, smallest first."""
    sorter = _Sorter(ranks)
    sorter.sort(0, len(ranks), len(ranks).bit_length())
    return [position for _, position in sorter.items]


class _Sorter:
    def __init__(self, ranks: list[int]) -> None:
        self.items = [(rank, position) for position, rank in enumerate(ranks)]

    def less(self, i: int, j: int) -> bool:
        return self.items[i][0] < self.items[j][0]

    def swap(self, i: int, j: int) -> None:
        self.items[i], self.items[j] = self.items[j], self.items[i]

    def sort(self, a: int, b: int, limit: int) -> None:
        balanced = partitioned = True
        while True:
            length = b - a
            if length <= INSERTION:
                self.insertion(a, b)
                return
            if limit == 0:
                self.heap(a, b)
                return
            if not balanced:
                self.break_patterns(a, b)
                limit -= 1
            pivot, swaps = self.choose_pivot(a, b)
            increasing = swaps == 0
            if swaps == 12:
                self.items[a:b] = self.items[a:b][::-1]
                pivot = (b - 1) - (pivot - a)
                increasing = True
            if balanced and partitioned and increasing and self.partial_insertion(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):
                a = self.partition_equal(a, b, pivot)
                continue
            middle, partitioned = self.partition(a, b, pivot)
            left, right = middle - a, b - middle
            if left < right:
                balanced = left >= length // 8
                self.sort(a, middle, limit)
                a = middle + 1
            else:
                balanced = right >= length // 8
                self.sort(middle + 1, b, limit)
                b = middle

    def insertion(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            j = i
            while j > a and self.less(j, j - 1):
                self.swap(j, j - 1)
                j -= 1

    def heap(self, first: int, end: int) -> None:
        size = end - first
        for start in range((size - 1) // 2, -1, -1):
            self.sift_down(start, size, first)
        for last in range(size - 1, -1, -1):
            self.swap(first, first + last)
            self.sift_down(0, last, first)

    def sift_down(self, root: int, size: int, first: int) -> None:
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def break_patterns(self, a: int, b: int) -> None:
        length = b - a
        if length < 8:
            return
        random = length
        modulus = 1 << length.bit_length()
        start = a + (length // 4) * 2 - 1
        for i in range(3):
            random ^= (random << 13) & (2**64 - 1)
            random ^= random >> 7
            random ^= (random << 17) & (2**64 - 1)
            other = random & (modulus - 1)
            if other >= length:
                other -= length
            self.swap(start + i, a + other)

    def choose_pivot(self, a: int, b: int) -> tuple[int, int]:
        """(position of the pivot, how many swaps it took to find: 0 hints at sorted, 12 at reversed)."""
        length = b - a
        swaps = 0
        i, j, k = a + length // 4, a + length // 4 * 2, a + length // 4 * 3
        if length >= 8:
            if length >= 50:
                i, swaps = self.median(i - 1, i, i + 1, swaps)
                j, swaps = self.median(j - 1, j, j + 1, swaps)
                k, swaps = self.median(k - 1, k, k + 1, swaps)
            j, swaps = self.median(i, j, k, swaps)
        return j, swaps

    def median(self, a: int, b: int, c: int, swaps: int) -> tuple[int, int]:
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        if self.less(c, b):
            b, c, swaps = c, b, swaps + 1
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        return b, swaps

    def partial_insertion(self, a: int, b: int) -> bool:
        """Sort by at most five moves; False when that is not enough."""
        i = a + 1
        for _ in range(5):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < 50:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                for j in range(i - 1, 0, -1):
                    if not self.less(j, j - 1):
                        break
                    self.swap(j, j - 1)
            if b - i >= 2:
                for j in range(i + 1, b):
                    if not self.less(j, j - 1):
                        break
                    self.swap(j, j - 1)
        return False

    def partition_equal(self, a: int, b: int, pivot: int) -> int:
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i += 1
            j -= 1

    def partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        self.swap(a, pivot)
        i, j = self._scan(a, a + 1, b - 1)
        if i > j:
            self.swap(j, a)
            return j, True
        self.swap(i, j)
        i, j = self._scan(a, i + 1, j - 1)
        while i <= j:
            self.swap(i, j)
            i, j = self._scan(a, i + 1, j - 1)
        self.swap(j, a)
        return j, False

    def _scan(self, a: int, i: int, j: int) -> tuple[int, int]:
        while i <= j and self.less(i, a):
            i += 1
        while i <= j and not self.less(j, a):
            j -= 1
        return i, j
