import { describe, expect, test } from 'vitest';
import { help, readWishes } from '../../local/start-options.ts';

describe('npm start', () => {
  test('passes on what is for the example', () => {
    expect(readWishes([], false)).toEqual({ example: true, verbose: false, others: [] });
    expect(readWishes(['--answer', 'silence', '--data', 'd', '--run', 'T-1'], false)).toEqual({
      example: true,
      verbose: false,
      data: 'd',
      others: ['--answer', 'silence', '--run', 'T-1'],
    });
    expect(readWishes(['--run', 'T-1'], true)).toMatchObject({ others: ['--run', 'T-1'] });
    expect(readWishes(['--help', '--no-example'], false)).toBe('help');
  });

  test('--help names every option', () => {
    for (const option of ['no-example', 'answer', 'data', 'run', 'verbose', 'help'])
      expect(help).toContain(`--${option}`);
  });

  test.each([
    [['--answer', 'maybe'], '--answer is "maybe"; it may be yes, no or silence'],
    [['--no-example', '--answer', 'yes'], '--no-example leaves out the agent, and --answer is for the agent'],
    [['--no-example', '--run', 'T-1', '--data', 'd'], '--run is for the agent'],
    [['--run', 'T-1'], '--run needs the --data'],
    [['--data', ''], '--data is empty'],
    [
      ['--dta', 'x'],
      "Unknown option '--dta'; the options are --no-example, --answer, --data, --run, --verbose, --help",
    ],
    [['x'], 'the options are --no-example'],
    [['--answer'], 'the options are --no-example'],
  ])('refuses %j before anything is started', (args, words) => {
    expect(() => readWishes(args, false)).toThrow(words);
  });
});
