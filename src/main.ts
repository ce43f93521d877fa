import { main } from './processes/main.ts'

const here = (path: string) => new URL(path, import.meta.url).href

await main({ appModule: here('./app.ts'), runnerModule: here('./git/runner/start.ts') })
