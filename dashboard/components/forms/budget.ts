/** The typed budget of a day. @returns null for no limit, undefined if it is not a whole number */
export function budgetOf(typed: string): number | null | undefined {
  const text = typed.trim();
  if (text === '') return null;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
