// What the supervisor starts once to see that the walls stand: it says hello on the channel and waits for its end.
import { Socket } from 'node:net';

const channel = new Socket({ fd: 3, readable: true, writable: true });
channel.on('end', () => channel.destroy());
channel.resume();
channel.write('hello\n');
