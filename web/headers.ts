import type { MiddlewareHandler } from 'hono';
import { csrf } from 'hono/csrf';
import { secureHeaders } from 'hono/secure-headers';

/**
 * What every answer says to the browser: no script, no frame, no referrer, nothing kept. Forms may lead on to the issuer,
 * since some browsers hold a redirect after a form against `form-action`.
 */
export const protect = (issuer: string): MiddlewareHandler[] => [
  async (context, next) => {
    await next();
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
  },
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      imgSrc: ["'self'"],
      formAction: ["'self'", new URL(issuer).origin],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
    crossOriginOpenerPolicy: 'same-origin',
    referrerPolicy: 'no-referrer',
    xContentTypeOptions: 'nosniff',
    xFrameOptions: 'DENY',
  }),
];

/**
 * Forms count only when the browser itself says that they came from here: `Sec-Fetch-Site: same-origin`, or for browsers
 * without it the page's `Origin`. Neither can be set by another site.
 */
export const ownFormsOnly = (webUrl: string): MiddlewareHandler =>
  csrf({ origin: new URL(webUrl).origin, secFetchSite: 'same-origin' });
