/** How the files of `commands/` declare a command. */
import type { Session, State } from './session/session.ts';
import type { Completion } from './wire/completion.ts';
import type { ParseContext, Scanner } from './wire/parser.ts';

/**
 * Which changes by other sessions may be reported before the tagged answer: `all`; all except removals, which would
 * shift the numbers the client is using; or none.
 */
export type ReportedChanges = 'all' | 'no-expunge' | 'nothing';

export interface CommandContext {
  readonly session: Session;
  readonly tag: string;
  /** The UID form of the command. */
  readonly uid: boolean;
}

interface Declaration<Args> {
  /** In capitals. */
  readonly verb: string;
  readonly states: readonly State[];
  /** Whether `UID <verb>` exists too. */
  readonly uid?: true;
  /** The selected folder must be open for writing. */
  readonly needs?: 'write';
  /** Default: all for UID forms and for commands that may report removals. */
  readonly reports?: ReportedChanges;
  readonly args: (scan: Scanner, context: ParseContext) => Args;
  run(context: CommandContext, args: Args): Promise<Completion> | Completion;
}

export interface Command {
  readonly verb: string;
  readonly states: readonly State[];
  readonly uid: boolean;
  readonly needs: 'read' | 'write';
  reports(uid: boolean): ReportedChanges;
  /** FETCH, SEARCH, SORT, THREAD. */
  readonly readsFolder: boolean;
  /** Reads the arguments to their end. @throws {SyntaxProblem} @returns what runs the command */
  prepare(scan: Scanner, context: ParseContext): (context: CommandContext) => Promise<Completion>;
}

export function command<Args>(declaration: Declaration<Args>): Command {
  const { verb, states, uid = false, needs = 'read', reports = 'all', args, run } = declaration;
  return {
    verb,
    states,
    uid,
    needs,
    reports: (uidForm) => (uidForm && reports === 'no-expunge' ? 'all' : reports),
    readsFolder: needs === 'read' && reports === 'no-expunge',
    prepare(scan, context) {
      const read = args(scan, context);
      scan.end();
      return async (running) => run(running, read);
    },
  };
}

/** A command without arguments. */
export const plainCommand = (declaration: Omit<Declaration<undefined>, 'args'>): Command =>
  command({ ...declaration, args: () => undefined });

export const ANY_STATE: readonly State[] = ['not-authenticated', 'authenticated', 'selected'];
export const LOGGED_IN: readonly State[] = ['authenticated', 'selected'];
export const SELECTED: readonly State[] = ['selected'];
