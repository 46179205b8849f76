import path from 'node:path';
import type { Settings } from './settings.ts';

/** Where the certificate of the mail listeners is: TLS_CERT and TLS_KEY, else the development certificate in DATA_DIR. */
export function certificateFiles(settings: Pick<Settings, 'TLS_CERT' | 'TLS_KEY' | 'DATA_DIR'>): {
  readonly certFile: string;
  readonly keyFile: string;
} {
  return {
    certFile: settings.TLS_CERT ?? path.join(settings.DATA_DIR, 'tls', 'host.pem'),
    keyFile: settings.TLS_KEY ?? path.join(settings.DATA_DIR, 'tls', 'host.key'),
  };
}
