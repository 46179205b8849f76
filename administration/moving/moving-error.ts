/** An export or import that cannot go on, in words for an operator: the message alone says what is wrong and what to do. */
export class MovingError extends Error {
  override readonly name = 'MovingError';
}
