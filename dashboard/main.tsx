import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { applyTheme } from './frame/theme.ts';
import { isFinal } from './problem.ts';
import { createDashboardRouter } from './router.tsx';
import './styles.css';

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: (count, error) => count < 2 && !isFinal(error), staleTime: 5_000 },
  },
});

applyTheme();
const place = document.getElementById('app');
if (place === null) throw new Error('index.html has no place for the pages');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={createDashboardRouter(queries)} />
    </QueryClientProvider>
  </StrictMode>,
);
