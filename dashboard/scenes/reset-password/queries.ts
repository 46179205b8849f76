import { useMutation } from '@tanstack/react-query';
import { done, service } from '../../api/client.ts';

export const useResetPassword = () =>
  useMutation({
    mutationFn: (body: { token: string; password: string }) =>
      done(service.POST('/api/password-resets/accept', { body })),
  });
