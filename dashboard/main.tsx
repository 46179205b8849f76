import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Problem } from './api/client.ts';
import { applyTheme } from './frame/theme.ts';
import { createDashboardRouter } from './router.tsx';
import './styles.css';

/** Answers that asking again does not change. */
const isFinal = (error: unknown): boolean => error instanceof Problem && error.status >= 400 && error.status < 500;

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
