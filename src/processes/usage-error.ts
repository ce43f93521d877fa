/** Invalid arguments of the command line: the exit code is 2. */
export class UsageError extends Error {}
