/** Header fields whose lists begin with groups, and one whose local part is quoted: 3 1 2 by From, 2 1 3 by To, 3 2 1 by Cc. */
export const GROUPED: readonly Record<string, string>[] = [
  { From: 'b@example.org', To: 'Friends: aaa@example.org, z@example.org;', Cc: 'zoe@example.org' },
  { From: '=?utf-8?q?Zirkel?=: a@example.org;', To: 'b@example.org', Cc: 'k@example.org, Group: a@example.org;' },
  { From: '"a b"@example.org', To: '=?utf-8?q?L=C3=B6we?=: ;', Cc: 'Crew:;' },
];
