/** Where an engine writes its log. A logger of pino is one; fields come first, then the text. */
export interface EngineLog {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
  /** @returns a log whose lines all have these fields */
  child(fields: object): EngineLog;
  /** Whether lines of this level are written; fields of others are not computed. */
  isLevelEnabled(level: 'debug'): boolean;
}

const nothing = (): void => undefined;

/** Writes nothing. */
export const NO_LOG: EngineLog = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => NO_LOG,
  isLevelEnabled: () => false,
};
