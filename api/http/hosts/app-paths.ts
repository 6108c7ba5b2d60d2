// The paths at the origin of an app: those of the API, and for all others the custom routes of the app, without their prefix.
import type { RequestListener } from 'node:http';
import type { AppHost, Hosts } from './hosts.ts';

/** Of the API, and of health checks, which know no name. */
const serverPaths = /^\/(?:api|_|healthz|readyz)(?:[/?#]|$)/;
/** A request line may have an absolute URL (RFC 9112 section 3.2.2). */
const authority = /^https?:\/\/[^/?#]*/i;

/** Gives each request at the origin of an app the path of the custom route that it means. */
export function useAppPaths(handler: RequestListener, hosts: Pick<Hosts, 'appOf'>): RequestListener {
  return (request, response) => {
    const app = hosts.appOf(request.headers.host);
    if (app !== undefined) request.url = fullPath(app, request.url ?? '');
    handler(request, response);
  };
}

function fullPath({ workspace, app }: AppHost, url: string): string {
  const path = url.replace(authority, '');
  if (serverPaths.test(path) || path === '*') return path;
  const prefix = `/api/workspaces/${workspace}/apps/${app}/custom`;
  return `${prefix}${path.startsWith('/') ? '' : '/'}${path}`;
}
