/** One range of a body (RFC 9110 §14.2). */

export interface ByteRange {
  readonly from: number;
  /** The byte behind the last. */
  readonly to: number;
}

/**
 * What a Range field asks for.
 *
 * @returns undefined: the whole body, also of several ranges and of units that are not known; `unsatisfiable`: 416
 */
export function byteRange(field: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(field?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '')
    return Number(last) === 0 || size === 0 ? 'unsatisfiable' : { from: Math.max(0, size - Number(last)), to: size };
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  if (from >= size) return 'unsatisfiable';
  return { from, to: last === '' ? size : Math.min(size, Number(last) + 1) };
}
