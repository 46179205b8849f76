/** The parts of `Name <a@b.c>` or `a@b.c`. */
export function partsOf(address: string): { readonly name: string; readonly address: string } {
  const found = /^\s*"?(.*?)"?\s*<([^<>]*)>\s*$/s.exec(address);
  if (found === null) return { name: '', address };
  return { name: (found[1] ?? '').replaceAll('\\"', '"'), address: found[2] ?? '' };
}

/** What a list has room for: the name, else the address. */
export function shortName(address: string): string {
  const parts = partsOf(address);
  return parts.name === '' ? parts.address : parts.name;
}
