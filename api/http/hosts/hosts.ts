// The names that the server is known by: its own, and one for each app, under which the app has an origin to itself.
import type { Config } from '../../../supervisor/protocol.ts';
import { isTenantId } from '../../../storage/sql/ids.ts';

/** The app whose origin a request is for. */
export interface AppHost {
  workspace: string;
  app: string;
  /** True below `http.app_domain`, false below `localhost`. */
  isPublic: boolean;
}

/** The ids that make a name. */
interface HostedApp {
  readonly id: string;
  readonly workspace: { readonly id: string };
}

/** The meaning of a `Host`: one of the server, one of an app, or the reason why it is neither. */
export type HostMeaning = 'server' | 'foreign' | 'no_app' | AppHost;

/** The error for a name that is none of the server. */
export const unknownHost = 'Host: is none of the names of this server (http.hosts)';
/** The error for a name below `http.app_domain` that no app can have. */
export const noAppHost = 'Host: no app has this name';

/** https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4 */
const maxLabelLength = 63;
const separator = '--';
/** A browser reads a label that begins so as one in another script: https://www.rfc-editor.org/rfc/rfc5890#section-2.3.1 */
const encodedLabel = 'xn--';
/** Browsers reach only their own machine by names below it: https://www.rfc-editor.org/rfc/rfc6761#section-6.3 */
const loopbackDomain = 'localhost';

/** The names in `http.hosts`, and those of apps below `http.app_domain` and `localhost`. */
export class Hosts {
  readonly #known: ReadonlySet<string>;
  readonly #domain: string;
  /** Almost all requests have the same `Host`. */
  #last: { host: string; meaning: HostMeaning } | undefined;

  constructor({ hosts, app_domain: domain }: Pick<Config['http'], 'hosts' | 'app_domain'>) {
    this.#known = new Set(hosts.map(normalized));
    this.#domain = domain.toLowerCase();
  }

  /** The meaning of the value of a `Host` header; empty for a request without one. */
  meaningOf(host: string): HostMeaning {
    if (host !== this.#last?.host) this.#last = { host, meaning: this.#find(host) };
    return this.#last.meaning;
  }

  /** The app whose origin a `Host` names; undefined for any other. */
  appOf(host: string | undefined): AppHost | undefined {
    const meaning = this.meaningOf(host ?? '');
    return typeof meaning === 'string' ? undefined : meaning;
  }

  /** True when every app has an origin below a domain of the operator's, so that the server's own need not show its pages. */
  get hasAppDomain(): boolean {
    return this.#domain !== '';
  }

  /**
   * The origin of an app, without the scheme, and with the port that `Host` has. Undefined without a domain, and for an app
   * whose ids make no name.
   */
  originOf({ id, workspace }: HostedApp, host = ''): string | undefined {
    const label = `${id}${separator}${workspace.id}`;
    if (!this.hasAppDomain || readLabel(label, true) === undefined) return undefined;
    return `//${label}.${this.#domain}${/:\d+$/.exec(host)?.[0] ?? ''}`;
  }

  #find(host: string): HostMeaning {
    if (this.#isListed(host)) return 'server';
    // As browsers read it: in lower case, without a port. A dot at its end changes nothing for DNS.
    const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') ?? '';
    if (this.#domain !== '' && isBelow(name, this.#domain)) {
      return readLabel(name.slice(0, -this.#domain.length - 1), true) ?? 'no_app';
    }
    const hasAnyName = this.#known.size === 0;
    const isLocal = isBelow(name, loopbackDomain) && name.includes(separator);
    if (isLocal && (hasAnyName || this.#known.has(loopbackDomain))) {
      return readLabel(name.slice(0, -loopbackDomain.length - 1), false) ?? 'no_app';
    }
    return hasAnyName ? 'server' : 'foreign';
  }

  /** Each entry of `http.hosts` is a `host`, with any port, or `host:port`. */
  #isListed(host: string): boolean {
    const name = normalized(host);
    return this.#known.has(name) || this.#known.has(name.replace(/:\d*$/, ''));
  }
}

/** Proxies leave a default port out or write it; and only they know of which scheme it is. */
function normalized(host: string): string {
  return host.toLowerCase().replace(/:(?:80|443)?$/, '');
}

function isBelow(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/**
 * The app of a label `<app>--<workspace>`. There is one way to read it: an app has none if one of the two ids has `--`, or a
 * hyphen at its end.
 */
function readLabel(label: string, isPublic: boolean): AppHost | undefined {
  const [app = '', workspace = '', ...others] = label.split(separator);
  const isReadable = label.length <= maxLabelLength && others.length === 0 && isTenantId(app) &&
    isTenantId(workspace) && !workspace.endsWith('-') && !label.startsWith(encodedLabel);
  return isReadable ? { workspace, app, isPublic } : undefined;
}
