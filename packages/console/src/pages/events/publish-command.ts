import { shellCommand } from '../../components/shell-command.ts'

/** The command that an empty list of events shows. Its id is another each time: a known one would be a duplicate. */
export const PUBLISH = shellCommand(
  '/v1/events',
  `{"specversion":"1.0","type":"com.example.hello.said","source":"/shell","id":"hello-'$RANDOM'","data":{"text":"Hello"}}`,
)
