import { type Actor, SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';

/** On whose behalf a use case runs, and from where: what audit entries and events say about their cause. */
export interface Caller {
  readonly actor: Actor;
  readonly ipAddress: string | null;
  readonly requestId: string | null;
  /** How the actor was authenticated, if not by a session, key or token; shown in the audit log. */
  readonly via?: 'approval_link';
}

/** The operator of the installation, where no request says from where: by a command, or in the background. */
export const OPERATOR: Caller = { actor: { ...SYSTEM_ACTOR, name: 'operator' }, ipAddress: null, requestId: null };
