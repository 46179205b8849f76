import type { Form } from '#core/platform/settings/setting-forms.ts';

export const hostAndPort: Form<{ readonly host: string; readonly port: number }> = {
  takes: '`host:port`',
  parse(value) {
    const [, host = '', port = ''] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(value) ?? [];
    return host !== '' && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined;
  },
};
