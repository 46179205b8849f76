import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm run dev` of this folder finds a started service. */
const SERVICE = process.env['AGENT_MAILBOX_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    // Small files would become data: addresses, which the page's policy refuses for scripts and fonts.
    assetsInlineLimit: 0,
    target: 'es2023',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The service reads from it which scripts a page needs (`api/documents/dashboard-files.ts`).
    manifest: true,
    rolldownOptions: {
      output: {
        // What most pages share is one file beside the document's script: a browser asks a server for six at a time.
        codeSplitting: {
          groups: [
            // Without the lists that keep few rows in the document: few pages have one.
            {
              name: 'react',
              test: /node_modules[\\/](?:react(?:-dom)?[\\/]|scheduler|@tanstack[\\/](?!(?:react-)?virtual))/,
            },
            { name: 'shared', test: /node_modules|dashboard[\\/](?:api|components)[\\/]/, minShareCount: 11 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': SERVICE, '/docs': SERVICE, '/openapi.json': SERVICE } },
});
