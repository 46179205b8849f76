import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/** Lets everything that is shown of webhooks be read again. */
export function useWebhooksChanged(): () => void {
  const queries = useQueryClient();
  return useCallback(() => void queries.invalidateQueries({ queryKey: ['webhooks'] }), [queries]);
}
