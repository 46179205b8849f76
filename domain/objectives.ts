/** Objectives of the service that rows show; those of `deploy/prometheus/rules.yml` are over 30 days. */
export const OBJECTIVES = {
  /** The first attempt of a delivery begins within this time after the event. */
  firstAttempt: { withinSeconds: 1, target: 0.99 },
  /** A notice about a held message is sent within this time. */
  approvalNotice: { withinSeconds: 10, target: 0.99 },
} as const;

export type ObjectiveName = keyof typeof OBJECTIVES;

/** What operators see of them at once. */
export const OBJECTIVE_WINDOW_MINUTES = 60;
