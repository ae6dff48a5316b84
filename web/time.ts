import { type Instant, toMilliseconds } from '../core/instant.ts';

/** `2026-11-30 14:20 UTC`. */
export const clockTime = (instant: Instant): string => `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`;

/** `18 min`, `2 h 05 min`, `1 d 3 h`; under a minute in seconds. */
export function timeLeft(until: Instant, now: Instant): string {
  const seconds = Math.max(0, Math.floor((toMilliseconds(until) - toMilliseconds(now)) / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${String(minutes).padStart(2, '0')} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}
