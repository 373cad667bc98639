// go-zero's filter itself, for the test: peer ADDRESS KEY BITS. Executes the lines of standard input, and answers each
// with a line: `add FILE` adds the keys of the file, a key in base64 a line; `contains FILE` says how many are contained.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/zeromicro/go-zero/core/bloom"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"
)

func main() {
	logx.Disable()
	bits, err := strconv.ParseUint(os.Args[3], 10, 64)
	check(err)
	store, err := redis.NewRedis(redis.RedisConf{Host: os.Args[1], Type: redis.NodeType})
	check(err)
	filter := bloom.New(store, os.Args[2], uint(bits))
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		verb, file, _ := strings.Cut(lines.Text(), " ")
		fmt.Println(count(file, func(key []byte) bool {
			if verb == "add" {
				check(filter.Add(key))
				return true
			}
			contained, err := filter.Exists(key)
			check(err)
			return contained
		}))
	}
}

// count calls do for each key of a file, and says for how many it was true. One after the other: new connections ask an
// older server for what it does not have, and of many at once go-zero's circuit breaker would count each as a failure.
func count(file string, do func(key []byte) bool) (total int) {
	content, err := os.ReadFile(file)
	check(err)
	for _, line := range strings.Fields(string(content)) {
		key, err := base64.StdEncoding.DecodeString(line)
		check(err)
		if do(key) {
			total++
		}
	}
	return total
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
