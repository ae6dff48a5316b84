import type { Scope } from '../core/principal.ts';
import type { FunctionName } from './functions.ts';

interface Route {
  method: 'GET' | 'POST' | 'PUT';
  path: `/${string}`;
  function: FunctionName;
  /** One of these must be in the token. `open`: no token is asked for; the pages check their session themselves. */
  scopes: readonly Scope[] | 'open';
}

/** Every route of the API, the function that answers it, and who may call. */
export const routes: readonly Route[] = [
  { method: 'POST', path: '/v1/requests', function: 'requests', scopes: ['request'] },
  { method: 'POST', path: '/v1/requests/{requestId}/cancellation', function: 'requests', scopes: ['request'] },
  { method: 'POST', path: '/v1/requests/{requestId}/claim', function: 'requests', scopes: ['request'] },
  { method: 'POST', path: '/v1/requests/{requestId}/outcome', function: 'requests', scopes: ['request'] },
  { method: 'POST', path: '/v1/requests/{requestId}/decision', function: 'decisions', scopes: ['decide'] },
  { method: 'POST', path: '/v1/requests/{requestId}/revocation', function: 'decisions', scopes: ['decide'] },
  { method: 'POST', path: '/v1/requests/{requestId}/reevaluation', function: 'decisions', scopes: ['decide'] },
  { method: 'GET', path: '/v1/requests/{requestId}', function: 'wait', scopes: ['request', 'decide', 'audit'] },
  { method: 'GET', path: '/v1/requests', function: 'reads', scopes: ['request', 'decide', 'audit'] },
  { method: 'GET', path: '/v1/runs/{runId}/audit', function: 'reads', scopes: ['audit'] },
  { method: 'GET', path: '/v1/runs/{runId}/audit/verification', function: 'reads', scopes: ['audit'] },
  { method: 'GET', path: '/v1/policies/{missionId}', function: 'policies', scopes: ['decide', 'audit'] },
  { method: 'PUT', path: '/v1/policies/{missionId}', function: 'policies', scopes: ['policies'] },
  {
    method: 'POST',
    path: '/v1/policies/{missionId}/simulation',
    function: 'policies',
    scopes: ['policies', 'decide'],
  },
  {
    method: 'GET',
    path: '/v1/policies/{missionId}/precedents',
    function: 'policies',
    scopes: ['decide', 'audit'],
  },
  {
    method: 'POST',
    path: '/v1/policies/{missionId}/precedents/{precedentId}/revocation',
    function: 'policies',
    scopes: ['decide'],
  },
  { method: 'GET', path: '/v1/health', function: 'reads', scopes: 'open' },
  { method: 'GET', path: '/', function: 'pages', scopes: 'open' },
  { method: 'GET', path: '/r/{requestId}', function: 'pages', scopes: 'open' },
  { method: 'POST', path: '/r/{requestId}/decision', function: 'pages', scopes: 'open' },
  { method: 'POST', path: '/r/{requestId}/revocation', function: 'pages', scopes: 'open' },
  { method: 'GET', path: '/sign-in', function: 'pages', scopes: 'open' },
  { method: 'GET', path: '/sign-in/callback', function: 'pages', scopes: 'open' },
  { method: 'POST', path: '/sign-out', function: 'pages', scopes: 'open' },
  { method: 'GET', path: '/assets/{file}', function: 'pages', scopes: 'open' },
];
