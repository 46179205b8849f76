/** Whether a key belongs to a field or to the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role="dialog"]') !== null;
}
