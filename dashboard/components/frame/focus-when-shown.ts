/** A `ref` that moves the focus to a field when it appears: where a person asked for it, and what had the focus is gone. */
export const focusWhenShown = (field: HTMLElement | null): void => field?.focus();
