/** One line of a difference. */
export interface DifferenceLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many lines on both sides together the old and the new text are shown whole, one after the other. */
const LINES_MAX = 2_000;

/** The lines of two texts, with what was removed before what was added (longest common subsequence). */
export function difference(before: string, after: string): readonly DifferenceLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  if (old.length + now.length > LINES_MAX)
    return [
      ...old.map((text) => ({ kind: 'removed', text }) as const),
      ...now.map((text) => ({ kind: 'added', text }) as const),
    ];
  // Length of the common rest from each pair of lines on.
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const restFrom = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === now[j] ? restFrom(i + 1, j + 1) + 1 : Math.max(restFrom(i + 1, j), restFrom(i, j + 1));
  const lines: DifferenceLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (was !== undefined && was === is) {
      lines.push({ kind: 'same', text: was });
      i++;
      j++;
    } else if (was !== undefined && (is === undefined || restFrom(i + 1, j) >= restFrom(i, j + 1))) {
      lines.push({ kind: 'removed', text: was });
      i++;
    } else if (is !== undefined) {
      lines.push({ kind: 'added', text: is });
      j++;
    }
  }
  return lines;
}
