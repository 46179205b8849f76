/** package-lock.json: which packages have no hash to check a download against, and the hashes that are added. */

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  /** A link to a workspace. */
  readonly link?: boolean;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface UnverifiedPackage {
  /** Path in the lockfile, `node_modules/name`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
}

export const readLockfile = (text: string): Lockfile => JSON.parse(text) as Lockfile;

/** Packages that npm would install without checking them: entries without `integrity`. Workspaces are not downloaded. */
export function unverifiedPackages(lockfile: Lockfile): UnverifiedPackage[] {
  return Object.entries(lockfile.packages).flatMap(([path, { version, integrity, link }]) => {
    const [, name] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    return name === undefined || link === true || integrity !== undefined
      ? []
      : [{ path, name, version: version ?? '' }];
  });
}

/**
 * The lockfile with these hashes after the version of each package, where npm writes them, and otherwise unchanged.
 *
 * @param hashes by path in the lockfile
 */
export function withHashes(text: string, hashes: ReadonlyMap<string, string>): string {
  const lockfile = JSON.parse(text) as { packages: Record<string, object> };
  for (const [path, integrity] of hashes) {
    const fields = Object.entries(lockfile.packages[path] ?? {});
    const after = fields.findLastIndex(([name]) => name === 'version' || name === 'resolved') + 1;
    lockfile.packages[path] = Object.fromEntries(fields.toSpliced(after, 0, ['integrity', integrity]));
  }
  return `${JSON.stringify(lockfile, null, 2)}\n`;
}
