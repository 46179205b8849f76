import type { Settings } from '#core/platform/settings/settings.ts';

/** The URL of a workflow in the Temporal UI, if TEMPORAL_UI_URL is set. @param workflowId null: none yet */
export function temporalLink(
  workflowId: string | null,
  { TEMPORAL_UI_URL, TEMPORAL_NAMESPACE }: Pick<Settings, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>,
): { temporalUrl?: string } {
  if (workflowId === null || TEMPORAL_UI_URL === undefined) return {};
  const path = `namespaces/${encodeURIComponent(TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(workflowId)}`;
  return { temporalUrl: `${TEMPORAL_UI_URL.replace(/\/+$/, '')}/${path}` };
}
