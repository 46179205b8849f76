import { useMutation } from '@tanstack/react-query';
import { done, service } from '../../api/client.ts';

/** Succeeds whether the address has an account or not. */
export const useAskForReset = () =>
  useMutation({ mutationFn: (email: string) => done(service.POST('/api/password-resets', { body: { email } })) });

export const useResetPassword = () =>
  useMutation({
    mutationFn: (body: { token: string; password: string }) =>
      done(service.POST('/api/password-resets/accept', { body })),
  });
