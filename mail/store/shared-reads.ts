/** Lets callers who ask the same thing at the same moment share one answer, such as all watchers of a folder. */
export function sharedReads<Result>(): (key: string, read: () => Promise<Result>) => Promise<Result> {
  const gathering = new Map<string, Promise<Result>>();
  return (key, read) => {
    let shared = gathering.get(key);
    if (shared === undefined) {
      // Who comes after it has begun might want to see a commit that it does not: they get the next one.
      shared = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        gathering.delete(key);
        return read();
      });
      gathering.set(key, shared);
    }
    return shared;
  };
}
