/** Closes a `switch` over a union: a forgotten case becomes a compile error, an impossible value an exception. */
export function assertNever(value: never): never {
  throw new Error(`impossible value: ${JSON.stringify(value)}`);
}
