import { useMutation } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type DeviceLook = Schemas['DeviceLook'];

export const useLookAtDevice = () =>
  useMutation({
    mutationFn: (userCode: string) => bodyOf(service.POST('/api/device-sign-ins/look', { body: { userCode } })),
  });

export const useDecideDevice = () =>
  useMutation({
    mutationFn: (body: { userCode: string; approve: boolean }) =>
      done(service.POST('/api/device-sign-ins/decide', { body })),
  });
