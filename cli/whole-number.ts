import { InvalidArgumentError } from 'commander';

/** Reads a whole number from 1 to a maximum, for commander. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= 1 && number <= max) return number;
    throw new InvalidArgumentError(`must be a whole number from 1 to ${max}`);
  };
}
