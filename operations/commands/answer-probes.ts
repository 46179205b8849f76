/** `answer-probes`: the helper of `doctor --from`, on another machine. */
import { once } from 'node:events';
import { integer, text } from '#core/platform/settings/setting-forms.ts';
import { command } from '#operations/command.ts';
import { answerProbes } from '#operations/outside.ts';

export const answerProbesCommand = command({
  name: 'answer-probes',
  summary: 'try the ports of machines that ask for it (for doctor --from)',
  description:
    'Runs on a machine outside of the installation, until Ctrl-C. `GET /?ports=25,443` makes it connect to these ports of the address that the request came from, and answer as JSON which of them are open and how they greet. It connects to no other address, so it needs no credential. Let it be reached directly: behind a proxy it would look at the proxy. Needs no settings.',
  arguments: {},
  options: {
    port: { text: 'port it listens on', value: 'number', form: integer(0, 65_535), fallback: '8790' },
    bind: { text: 'address it listens on', value: 'address', form: text, fallback: '::' },
  },
  async run({ options, progress, signal, output }) {
    const { server, port } = await answerProbes(options.bind, options.port);
    progress.say(`Answering on port ${port}; Ctrl-C ends.`);
    if (!signal.aborted) await once(signal, 'abort');
    server.close();
    server.closeAllConnections();
    output({ port }, 'Ended.');
    return 'done';
  },
});
