import { shareDescriptions, statementsFolder } from '../src/db/testing/described.ts'
import '../src/db/testing/install.ts'

// Before each test file. All processes of the run share what the server says about statements.
shareDescriptions(statementsFolder())
