"""One program a language that does what its input asks for: answer, fail, loop, eat memory, flood its output."""

from __future__ import annotations

from dataclasses import dataclass

WORDS = ("answer", "other", "fail", "loop", "memory", "flood")


@dataclass(frozen=True)
class Judged:
    """The program, and one that is not in the language."""

    source: str
    broken: str
    memory_mb: int = 128


PROGRAMS = {
    "python": Judged(
        """
word = input()
if word == "answer": print(42)
elif word == "other": print(41)
elif word == "fail": raise SystemExit(3)
elif word == "loop":
    while True: pass
elif word == "memory": kept = [bytearray(b"x" * (1 << 20)) for _ in range(4096)]
else:
    while True: print("x" * 1_000_000)
""",
        "def f(:\n    pass",
    ),
    "c": Judged(
        """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char word[16];
    if (scanf("%15s", word) != 1) return 1;
    if (!strcmp(word, "answer")) puts("42");
    else if (!strcmp(word, "other")) puts("41");
    else if (!strcmp(word, "fail")) abort();
    else if (!strcmp(word, "loop")) for (volatile long n = 0;; n++);
    else if (!strcmp(word, "memory")) for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    else for (;;) puts("a line of output that is repeated for ever and ever");
    return 0;
}
""",
        "int main(void) { return 0",
    ),
    "cpp": Judged(
        """
#include <cstdio>
#include <new>
#include <stdexcept>
#include <cstring>
int main() {
    char word[16];
    if (scanf("%15s", word) != 1) return 1;
    if (!strcmp(word, "answer")) puts("42");
    else if (!strcmp(word, "other")) puts("41");
    else if (!strcmp(word, "fail")) throw std::runtime_error("no");
    else if (!strcmp(word, "loop")) for (volatile long n = 0;; n++);
    else if (!strcmp(word, "memory")) for (;;) memset(new char[1 << 20], 1, 1 << 20);
    else for (;;) puts("a line of output that is repeated for ever and ever");
}
""",
        "int main() { undefined(); }",
    ),
    "javascript": Judged(
        """
const word = require('fs').readFileSync('/dev/stdin', 'utf8').trim();
if (word === 'answer') console.log(42);
else if (word === 'other') console.log(41);
else if (word === 'fail') throw new Error('no');
else if (word === 'loop') for (;;);
else if (word === 'memory') { const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1)); }
else for (;;) require('fs').writeSync(1, 'x'.repeat(1 << 20));
""",
        "",
    ),
    "bash": Judged(
        """
read -r word
case $word in
answer) echo 42 ;;
other) echo 41 ;;
fail) exit 3 ;;
loop) while :; do :; done ;;
memory) text=xxxxxxxxxxxxxxxx; while :; do text=$text$text; done ;;
*) yes ;;
esac
""",
        "",
    ),
    "java": Judged(
        """
import java.util.*;
public class Judged {
    public static void main(String[] args) {
        String word = new Scanner(System.in).next();
        switch (word) {
            case "answer": System.out.println(42); break;
            case "other": System.out.println(41); break;
            case "fail": throw new IllegalStateException();
            case "loop": for (long n = 0;; n++) if (n < 0) break; break;
            case "memory": List<byte[]> kept = new ArrayList<>(); for (;;) kept.add(new byte[1 << 20]);
            default: byte[] line = new byte[1 << 20]; for (;;) { System.out.write(line, 0, line.length);
                if (System.out.checkError()) throw new RuntimeException("full"); }
        }
    }
}
""",
        "public class Judged { int }",
        memory_mb=256,
    ),
    "rust": Judged(
        """
use std::io::{self, Write};
fn main() {
    let mut word = String::new();
    io::stdin().read_line(&mut word).unwrap();
    match word.trim() {
        "answer" => println!("42"),
        "other" => println!("41"),
        "fail" => panic!("no"),
        "loop" => { let mut n = 0u64; loop { n = std::hint::black_box(n.wrapping_add(1)); } }
        "memory" => { let mut kept = Vec::new(); loop { kept.push(std::hint::black_box(vec![1u8; 1 << 20])); } }
        _ => loop { io::stdout().write_all(&[b'x'; 1 << 16]).unwrap(); },
    }
}
""",
        "fn main() { let }",
    ),
    "go": Judged(
        """
package main

import (
	"fmt"
	"os"
)

func main() {
	var word string
	fmt.Scan(&word)
	switch word {
	case "answer":
		fmt.Println(42)
	case "other":
		fmt.Println(41)
	case "fail":
		panic("no")
	case "loop":
		for {
		}
	case "memory":
		kept := [][]byte{}
		for {
			block := make([]byte, 1<<20)
			for i := range block {
				block[i] = 1
			}
			kept = append(kept, block)
		}
	default:
		for {
			if _, err := os.Stdout.Write(make([]byte, 1<<20)); err != nil {
				panic(err)
			}
		}
	}
}
""",
        "package main\nfunc main() { x }",
    ),
}
