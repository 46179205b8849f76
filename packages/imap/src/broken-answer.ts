/** The answer was cut in its middle: nothing that could be said now would be understood, so the line is dropped. */
export class BrokenAnswer extends Error {}
