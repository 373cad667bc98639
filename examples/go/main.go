// Prints for each argument whether it is new.
//
//	sudo apt-get install golang-go pkg-config redis-server
//	cd examples/go && go run . redis://localhost alice bob alice
package main

import (
	"context"
	"fmt"
	"os"

	"everseen.example/go/bloom"
)

func main() {
	seen, err := bloom.OpenOrCreate(os.Args[1], "visitors", 0, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer seen.Close()
	visitors := [][]byte{}
	for _, visitor := range os.Args[2:] {
		visitors = append(visitors, []byte(visitor))
	}
	fresh, err := seen.AddMany(context.Background(), visitors)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for i, visitor := range visitors {
		if fresh[i] {
			fmt.Printf("%s is new\n", visitor)
		} else {
			fmt.Printf("%s was here before\n", visitor)
		}
	}
}
